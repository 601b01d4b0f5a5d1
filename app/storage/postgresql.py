"""PostgreSQL as we need it: psycopg, and a server that keeps what it acknowledged."""

from sqlalchemy import URL, Engine, create_engine


def engines(url: URL, connections: int) -> tuple[Engine, Engine]:
    """One pool; reads see one snapshot, writes see what is committed and lock the rows they change."""
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=connections,
        max_overflow=0,
        pool_timeout=15,
        pool_pre_ping=True,
        connect_args={"connect_timeout": 5, "options": "-c lock_timeout=15000 -c statement_timeout=60000"},
    )
    reader = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return reader, engine


def refuse_unsafe(engine: Engine) -> None:
    """A server that acknowledges before the disk does would break our first promise: do not start on it."""
    with engine.connect() as connection:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            if connection.exec_driver_sql(f"SHOW {name}").scalar_one() == "off":
                raise RuntimeError(
                    f"PostgreSQL runs with {name} = off: acknowledged results could be lost. Turn it on."
                )
