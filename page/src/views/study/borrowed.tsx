// Results of earlier studies that this one borrows: which, how many, and how much they count, in words.

import { useState } from "preact/hooks";
import { studyPath } from "../../core/address.ts";
import { change, get, pages, studyApi, v1 } from "../../core/api.ts";
import { percent, plural } from "../../core/format.ts";
import { useRead } from "../../core/hooks.ts";
import { isSeveral } from "../../core/quantities.ts";
import { may } from "../../core/session.ts";
import type { Borrowed as BorrowedOut, BorrowedStudy, Study, StudyPage } from "../../core/types.ts";
import { Modal, toast } from "../../parts/dialog.tsx";
import { Complaint } from "../../parts/states.tsx";
import { Term } from "../../parts/term.tsx";
import { useFacts } from "./facts.ts";

export function Borrowed() {
  const { name, summary, study, look } = useFacts();
  const [open, setOpen] = useState(false);
  const { data, reload } = useRead(() => get<BorrowedOut>(studyApi(name, "/borrowed")), [name, summary.seq]);
  const borrowed = data?.borrowed ?? [];
  const possible = may("manage") && study.state === "active" && !isSeveral(summary) && summary.counts.candidates > 0;
  if (!borrowed.length && !possible) return null;
  const saved = async () => {
    setOpen(false);
    await look();
    reload();
  };
  return (
    <section class="card wide">
      <header>
        <h2>
          <Term name="borrowed">Borrowed results</Term>
        </h2>
        <span class="push" />
        {possible && (
          <button type="button" class="small" onClick={() => setOpen(true)}>
            {borrowed.length ? "Change" : "Borrow from an earlier study"}
          </button>
        )}
      </header>
      {!borrowed.length && (
        <p class="quiet">
          None. An earlier study with columns of the same names can give this one a head start. How much its results
          count is decided by how well they explain the new ones.
        </p>
      )}
      <ul class="borrowed">
        {borrowed.map((source) => (
          <Source source={source} key={source.study} />
        ))}
      </ul>
      {open && <Chooser borrowed={borrowed} onClose={() => setOpen(false)} onSaved={saved} />}
    </section>
  );
}

function Source({ source }: { source: BorrowedStudy }) {
  return (
    <li>
      <p>
        <a href={studyPath(source.study)}>
          <b>{source.study}</b>
        </a>
        <span class="quiet small">{` ${plural(source.results, "result")}, as of event ${source.seq}`}</span>
        {source.importance !== null && <span class="chip accent gap">{`counts ${percent(source.importance)}`}</span>}
      </p>
      <p>{source.words}</p>
      <p class="quiet small">
        {`Compared by ${source.columns.join(", ")}.`}
        {source.missing.length > 0 && ` Unknown there, so ignored: ${source.missing.join(", ")}.`}
      </p>
    </li>
  );
}

interface ChooserProps {
  borrowed: readonly BorrowedStudy[];
  onClose: () => void;
  onSaved: () => Promise<void>;
}

// Studies that share a feature with this one, those that share most first.
async function readOthers(study: Study): Promise<{ name: string; shared: string[] }[]> {
  const own = new Set(featuresOf(study));
  const found: { name: string; shared: string[] }[] = [];
  for await (const page of pages<StudyPage>(v1("studies")))
    for (const other of page.studies) {
      const shared = featuresOf(other).filter((column) => own.has(column));
      if (other.name !== study.name && shared.length) found.push({ name: other.name, shared });
    }
  return found.sort((a, b) => b.shared.length - a.shared.length);
}

const featuresOf = ({ columns }: Study) => columns.filter(({ role }) => role === "feature").map(({ name }) => name);

function Chooser({ borrowed, onClose, onSaved }: ChooserProps) {
  const { name, study } = useFacts();
  const { data } = useRead(() => readOthers(study), [name]);
  const [chosen, setChosen] = useState(borrowed.map((source) => source.study));
  const [problem, setProblem] = useState<unknown>(null);
  const turn = (other: string, on: boolean) =>
    setChosen((last) => (on ? [...last, other] : last.filter((kept) => kept !== other)));
  const save = async () => {
    try {
      await change("PUT", studyApi(name, "/borrowed"), { from: chosen });
      toast(chosen.length ? `Results of ${chosen.join(", ")} are borrowed.` : "Nothing is borrowed any more.");
      await onSaved();
    } catch (refused) {
      setProblem(refused);
    }
  };
  return (
    <Modal label="Borrow results" onClose={onClose}>
      <div class="stack">
        <h2>Borrow results</h2>
        <p class="quiet">The results are copied as they are now. Later results there change nothing here.</p>
        {data && !data.length && <p class="note">No other study has a feature of the same name.</p>}
        <div class="stack small-stack">
          {(data ?? []).map((other) => (
            <label class="check" key={other.name}>
              <input
                type="checkbox"
                checked={chosen.includes(other.name)}
                onChange={(event) => turn(other.name, event.currentTarget.checked)}
              />
              {other.name}
              <span class="quiet small">{`shares ${other.shared.join(", ")}`}</span>
            </label>
          ))}
        </div>
        <Complaint error={problem} />
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" class="primary" disabled={!data} onClick={save}>
            Save
          </button>
        </div>
      </div>
    </Modal>
  );
}
