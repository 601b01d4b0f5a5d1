// A candidate as a row: what the model expects with an error bar, its status, and buttons to pin or exclude it.

import { candidateApi, change } from "../../core/api.ts";
import { cell, measured, number, percent } from "../../core/format.ts";
import { beliefOf, isSeveral, quantityTitle } from "../../core/quantities.ts";
import { may } from "../../core/session.ts";
import type { Candidate, Prediction, Quantity } from "../../core/types.ts";
import { KeyLink } from "../../parts/chips.tsx";
import { ask, toast } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { StructureCell } from "../../parts/structure.tsx";
import type { TableColumn } from "../../parts/table.tsx";
import type { Believed } from "./believed.ts";
import type { Facts } from "./facts.ts";

interface Context {
  domains: Record<string, [number, number]>; // by quantity: from the lowest to the highest plausible value
  pins: string[];
  setPins: (pins: string[]) => void;
  hidden: string[];
  onChange: () => unknown;
}

const isNarrow = () => matchMedia("(max-width: 560px)").matches; // as in css/views.css

// The server calls what it expects of the first quantity `mean`, of any of several `price mean`.
function beliefColumn(
  quantity: Quantity,
  position: number,
  { summary }: Facts,
  { domains }: Context,
): TableColumn<Believed> {
  const wide = isSeveral(summary) ? "minmax(230px, 2fr)" : "minmax(260px, 2.4fr)";
  return {
    id: `belief ${quantity.name}`,
    title: `Expected ${quantityTitle(quantity)}`,
    term: position ? undefined : "expected",
    sort: position ? `${quantity.name} mean` : "mean",
    falling: quantity.direction !== "minimize",
    width: isNarrow() ? "minmax(160px, 1fr)" : wide,
    class: isNarrow() ? "right" : "",
    cell: ({ belief }) => (
      <Belief
        belief={summary.counts.observations ? beliefOf(belief, quantity.name) : null}
        domain={domains[quantity.name] ?? [0, 1]}
      />
    ),
  };
}

const feasibleColumn: TableColumn<Believed> = {
  id: "feasible",
  title: "Good enough",
  term: "feasible",
  width: "132px",
  class: "right number",
  cell: ({ belief }) => (belief?.feasible == null ? "–" : percent(belief.feasible)),
};

export function columnsOf(facts: Facts, context: Context): TableColumn<Believed>[] {
  const { name, study, summary } = facts;
  const own = study.columns
    .filter((column) => column.role !== "key" && !context.hidden.includes(column.name))
    .sort((a, b) => Number(b.role === "feature") - Number(a.role === "feature")); // features first, else as they are
  const switches: TableColumn<Believed> = {
    id: "switch",
    title: "Availability",
    hidden: true,
    width: "52px",
    cell: (candidate) => <Switch study={name} candidate={candidate} onChange={context.onChange} />,
  };
  return [
    { id: "pin", title: "Pin", hidden: true, width: "44px", cell: ({ key }) => <Pin id={key} {...context} /> },
    { id: "key", title: "Key", width: "minmax(120px, 1.2fr)", cell: ({ key }) => <KeyLink study={name} id={key} /> },
    ...summary.quantities.map((quantity, position) => beliefColumn(quantity, position, facts, context)),
    ...(study.configuration.constraints?.length ? [feasibleColumn] : []),
    {
      id: "status",
      title: "Status",
      width: isSeveral(summary) ? "260px" : "192px",
      cell: (candidate) => <Status candidate={candidate} />,
    },
    ...own.map(
      (column): TableColumn<Believed> => ({
        id: `column ${column.name}`,
        title: column.name,
        sort: column.name,
        width: `minmax(${Math.min(200, Math.max(104, 44 + 8 * column.name.length))}px, 1fr)`,
        class: column.kind === "number" ? "right number" : "",
        cell: ({ key, features, attributes }) => {
          const words = cell((column.role === "feature" ? features : attributes)[column.name]);
          if (column.fingerprint && words)
            return <StructureCell study={name} id={key} column={column.name} smiles={words} key={key} />;
          return <span class="clip">{words}</span>;
        },
      }),
    ),
    ...(may("manage") ? [switches] : []),
  ];
}

interface BeliefProps {
  belief: Prediction | null;
  domain: [number, number];
}

export function Belief({ belief, domain: [low, high] }: BeliefProps) {
  if (!belief) return <span class="quiet">–</span>;
  const at = (value: number) => Math.min(100, Math.max(0, ((value - low) / (high - low || 1)) * 100));
  const words = `${number(belief.mean)}, between ${number(belief.lower)} and ${number(belief.upper)}`;
  return (
    <div class="belief" title={words}>
      <svg viewBox="0 0 100 14" preserveAspectRatio="none" role="img" aria-label={words}>
        <line class="whole" x1={0} x2={100} y1={7} y2={7} />
        <line class="span" x1={at(belief.lower)} x2={at(belief.upper)} y1={7} y2={7} />
        <line class="mean" x1={at(belief.mean)} x2={at(belief.mean)} y1={1} y2={13} />
      </svg>
      <span class="number">{measured(belief.mean, belief.std)}</span>
    </div>
  );
}

export function Status({ candidate: { belief, available, reason } }: { candidate: Believed }) {
  if (!available)
    return (
      <span class="chip clip" title={reason ?? ""}>
        {reason ? `unavailable: ${reason}` : "unavailable"}
      </span>
    );
  const times = belief?.counts ?? 0;
  return (
    <>
      {times > 0 && <span class="chip accent">{times > 1 ? `measured ${times}×` : "measured"}</span>}
      {belief !== null && belief.pending > 0 && <span class="chip warn">on a bench</span>}
      {belief?.on_front && !times && <span class="chip">can be on the front</span>}
    </>
  );
}

function Pin({ id, pins, setPins }: Context & { id: string }) {
  const on = pins.includes(id);
  return (
    <button
      type="button"
      class="plain icon small pin"
      aria-pressed={on}
      aria-label={on ? `Unpin ${id}` : `Pin ${id}`}
      onClick={() => setPins(on ? pins.filter((other) => other !== id) : [...pins, id])}
    >
      <Icon name="pin" size={16} />
    </button>
  );
}

interface SwitchProps {
  study: string;
  candidate: Candidate;
  onChange: () => unknown;
  words?: boolean;
}

// Say whether a candidate can be measured at all.
export function Switch({ study, candidate: { key, available }, onChange, words = false }: SwitchProps) {
  const put = async (body: { available: boolean; reason?: string }) => {
    await change("PATCH", candidateApi(study, key), body);
    toast(`${key} is now ${body.available ? "available" : "unavailable"}.`);
    await onChange();
  };
  const switchOff = () =>
    ask({
      title: `Mark ${key} as unavailable`,
      text: "It will no longer be suggested. Its results stay.",
      confirm: "Mark as unavailable",
      danger: true,
      fields: [{ name: "reason", label: "Reason", required: true, maxlength: 200, placeholder: "out of stock" }],
      act: ({ reason }) => put({ available: false, reason }),
    });
  const switchOn = () =>
    ask({
      title: `Mark ${key} as available`,
      text: "It may be suggested again.",
      confirm: "Mark as available",
      act: () => put({ available: true }),
    });
  const label = available ? "Mark as unavailable" : "Mark as available";
  return (
    <button
      type="button"
      class={words ? "" : "plain icon small"}
      aria-label={words ? undefined : `Mark ${key} as ${available ? "unavailable" : "available"}`}
      title={label}
      onClick={available ? switchOff : switchOn}
    >
      <Icon name="off" size={16} />
      {words && label}
    </button>
  );
}
