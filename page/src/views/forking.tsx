// Fork a study: a new one that begins as this one is, or was after an event, under other settings.

import "../base.ts";
import { go, studyPath } from "../core/address.ts";
import { change, studyApi } from "../core/api.ts";
import type { Study } from "../core/types.ts";
import { ask, toast } from "../parts/dialog.tsx";
import type { FieldProps } from "../parts/field.tsx";
import { cloneStudy } from "./cloning.ts";
import { GOALS } from "./study/settings_form.ts";

const NAME = "[A-Za-z0-9][A-Za-z0-9._\\-]{0,99}";

export function forkStudy(study: Study, at?: number): void {
  ask({
    title: at === undefined ? `Fork ${study.name}` : `What if? Fork ${study.name} after event ${at}`,
    text: `A new study begins with the candidates and results of ${study.name}${at === undefined ? "" : ` up to event ${at}`}, and goes on by itself. ${study.name} stays as it is. What is being measured now counts as abandoned in the new study.`,
    confirm: "Fork",
    fields: fieldsOf(study, at),
    act: async (values) => {
      const configuration = changesOf(study, values);
      if (values.take === CLONE) await cloneStudy(study, values.name ?? "", configuration);
      else
        await change("POST", studyApi(study.name, "/fork"), {
          name: values.name,
          ...(at === undefined ? {} : { at }),
          configuration,
          ...(values.reason ? { reason: values.reason } : {}),
        });
      toast(`Study ${values.name} is ready.`);
      go(studyPath(values.name ?? ""));
    },
  });
}

const KEEP = "";
const CLONE = "clone";

function fieldsOf({ name, configuration }: Study, at?: number): FieldProps[] {
  const several = (configuration.objectives?.length ?? 1) > 1;
  const quantities = (configuration.objectives ?? []).map((objective) => objective.name);
  return [
    {
      name: "name",
      label: "Name of the new study",
      value: `${name}-${at === undefined ? "fork" : `from-${at}`}`.slice(0, 100),
      required: true,
      pattern: NAME,
      hint: "Letters, digits, dots and dashes.",
    },
    ...(at === undefined
      ? [
          {
            name: "take",
            label: "Take over",
            options: [
              [KEEP, "candidates and results"],
              [CLONE, "only candidates and settings: a clone without results"],
            ] as [string, string][],
          },
        ]
      : []),
    ...(several
      ? [
          {
            name: "only",
            label: "Objectives",
            options: [
              [KEEP, `all: ${quantities.join(", ")}`],
              ...quantities.map((quantity): [string, string] => [quantity, `only ${quantity}`]),
            ] as [string, string][],
          },
        ]
      : []),
    { name: "goal", label: "Goal", options: Object.entries(GOALS), value: configuration.goal ?? "best" },
    { name: "min_batch", label: "Smallest batch", kind: "number", min: 1, value: configuration.min_batch },
    { name: "max_batch", label: "Largest batch", kind: "number", min: 1, value: configuration.max_batch },
    { name: "reason", label: "Reason", maxlength: 200, hint: "Optional. It is recorded in both histories." },
  ];
}

// Only what differs is sent: everything else stays as it was at that event.
function changesOf({ configuration }: Study, values: Record<string, string>): object {
  const chosen = (configuration.objectives ?? []).filter(({ name }) => name === values.only);
  return {
    ...(values.goal === configuration.goal ? {} : { goal: values.goal }),
    ...(Number(values.min_batch) === configuration.min_batch ? {} : { min_batch: Number(values.min_batch) }),
    ...(Number(values.max_batch) === configuration.max_batch ? {} : { max_batch: Number(values.max_batch) }),
    ...(chosen.length ? { objectives: chosen, prefer: {}, reference: {} } : {}),
  };
}
