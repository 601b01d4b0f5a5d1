# Two stages: the first builds a virtual environment from hash-locked requirements, and the page; the second has
# nothing else.
FROM python:3.11-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
RUN python -m venv /opt/nextbatch
ENV PATH=/opt/nextbatch/bin:$PATH
COPY requirements/server.lock requirements/build.lock requirements/
RUN pip install --require-hashes -r requirements/server.lock \
    && python -m venv /opt/build \
    && /opt/build/bin/pip install --require-hashes -r requirements/build.lock
COPY pyproject.toml README.md LICENSE ./
COPY client client
COPY migrations migrations
COPY app app
COPY page page
COPY docs/*.md docs/
RUN /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
    && pip install --no-deps --no-index /wheels/*.whl

FROM python:3.11-slim
RUN useradd --system --uid 10001 --user-group --no-create-home nextbatch \
    && install -d -o nextbatch -g nextbatch -m 0700 /data
COPY --from=build /opt/nextbatch /opt/nextbatch
ENV PATH=/opt/nextbatch/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    NEXTBATCH_DATA=/data \
    NEXTBATCH_HOST=0.0.0.0 \
    NEXTBATCH_ALLOW_PUBLIC_BIND=true
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["nextbatch", "healthcheck"]
CMD ["nextbatch", "serve"]
