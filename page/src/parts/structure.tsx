// The structures of a candidate's molecules, as the server draws them. Nothing where it cannot: its extra is missing.

import { useState } from "preact/hooks";
import { query, studyApi } from "../core/api.ts";
import type { Cell, Column } from "../core/types.ts";

interface StructuresProps {
  study: string;
  columns: Column[];
  id: string;
  cells: Record<string, Cell>;
  size?: number;
}

export function Structures({ study, columns, id, cells, size = 180 }: StructuresProps) {
  const molecules = columns.filter(({ fingerprint, name }) => fingerprint && cells[name]);
  if (!molecules.length) return null;
  return (
    <div class="structures">
      {molecules.map(({ name }) => (
        <Structure study={study} id={id} column={name} smiles={String(cells[name])} size={size} key={name} />
      ))}
    </div>
  );
}

interface StructureProps {
  study: string;
  id: string;
  column: string;
  smiles: string;
  size: number;
}

function Structure(props: StructureProps) {
  const [missing, setMissing] = useState(false);
  if (missing) return null;
  return (
    <figure class="structure">
      <Picture {...props} onMissing={() => setMissing(true)} />
      <figcaption class="quiet small">{props.column}</figcaption>
    </figure>
  );
}

// In a row of a table: the picture, or the text where there is none.
export function StructureCell(props: Omit<StructureProps, "size">) {
  const [missing, setMissing] = useState(false);
  if (missing) return <span class="clip">{props.smiles}</span>;
  return (
    <span class="structure" title={props.smiles}>
      <Picture {...props} size={IN_A_ROW} onMissing={() => setMissing(true)} />
    </span>
  );
}

const IN_A_ROW = 56; // pixels wide, so that the picture is lower than a row

function Picture({ study, id, column, smiles, size, onMissing }: StructureProps & { onMissing: () => void }) {
  const key = id.split("/").map(encodeURIComponent).join("/");
  const height = Math.round(size * 0.75);
  return (
    <img
      src={studyApi(study, `/structures/${key}`) + query({ column, width: size, height: Math.max(50, height) })}
      width={size}
      height={height}
      alt={`Structure of ${smiles}`}
      loading="lazy"
      onError={onMissing}
    />
  );
}
