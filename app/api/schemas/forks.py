"""Forks on the wire."""

from dataclasses import replace

from pydantic import ConfigDict, Field

from app.api.schemas.shape import Name, Reason, Request
from app.api.schemas.studies import StudySettings, without_defaults
from app.domain.studies import Configuration, Objective


class ForkSettings(StudySettings):
    """What is left out is as it was in the other study.

    `objective` names the only one, also of a study that has several: its direction and unit stay if they are not sent.
    """

    model_config = ConfigDict(json_schema_extra=without_defaults)

    def over(self, configuration: Configuration) -> Configuration:
        sent = self.model_fields_set
        if "objective" in sent and "objectives" not in sent and len(configuration.objectives) > 1:
            named = [objective for objective in configuration.objectives if objective.name == self.objective]
            only = (named or [Objective(self.objective)])[0]
            configuration = replace(configuration, objectives=(only,), prefer={}, reference={})
        return super().over(configuration)


class ForkRequest(Request):
    """Which moment of the study to begin from, and what is to be different."""

    name: Name = Field(description="Of the new study.", examples=["suzuki-cheap"])
    at: int | None = Field(
        default=None,
        ge=1,
        lt=2**31,
        description="The last event of the ledger that the fork takes over; by default the newest. The same "
        "request again finds the fork; without `at`, only until something else happens to the study.",
    )
    configuration: ForkSettings = Field(
        default=ForkSettings(),
        description="Settings that differ. Every objective must be among what was measured.",
        examples=[{"objective": "cost", "direction": "minimize"}],
    )
    reason: Reason | None = Field(default=None, description="Kept in both ledgers.")
