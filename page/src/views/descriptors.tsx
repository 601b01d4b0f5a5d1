// A second file beside a list of candidates: descriptors of the levels of a column, joined before the list is checked.

import { useState } from "preact/hooks";
import { type Joined, joinDescriptors } from "../core/descriptors.ts";
import { plural } from "../core/format.ts";
import { Complaint } from "../parts/states.tsx";
import { Term } from "../parts/term.tsx";

interface DescriptorsProps {
  candidates: File;
  onJoined: (file: File) => void;
}

export function Descriptors({ candidates, onJoined }: DescriptorsProps) {
  const [joined, setJoined] = useState<Joined[]>([]);
  const [error, setError] = useState<unknown>(null);
  const take = async (file: File) => {
    setError(null);
    try {
      const done = await joinDescriptors(joined.at(-1)?.file ?? candidates, file);
      setJoined([...joined, done]);
      onJoined(done.file);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <div class="descriptors">
      <div class="row">
        <label class="button small">
          Add descriptors
          <input
            class="visually-hidden"
            type="file"
            accept=".csv,.xlsx,.tsv,text/csv,text/plain"
            aria-label="Add descriptors of a column's levels"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file) take(file);
              event.currentTarget.value = "";
            }}
          />
        </label>
        <span class="quiet small">
          <Term name="descriptors">Another file with what you know of each ligand, solvent or other level</Term>
        </span>
      </div>
      {joined.map(({ column, added }) => (
        <p class="small" role="status" key={column}>
          {`${plural(added.length, "descriptor")} of ${column}: ${added.join(", ")}.`}
        </p>
      ))}
      <Complaint error={error} />
    </div>
  );
}
