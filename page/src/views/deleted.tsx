// Deleted studies: until they are erased, each can be restored as it was.

import { go, studyPath } from "../core/address.ts";
import { change, get, studyApi, v1 } from "../core/api.ts";
import { fullTime } from "../core/format.ts";
import { useRead } from "../core/hooks.ts";
import type { DeletedStudy, Study } from "../core/types.ts";
import { actorWords, learnAllNames } from "../core/words.ts";
import { ask, toast } from "../parts/dialog.tsx";
import { Empty, Failed, Loading } from "../parts/states.tsx";

async function readAll(): Promise<DeletedStudy[]> {
  await learnAllNames();
  const { studies } = await get<{ studies: DeletedStudy[] }>(v1("deleted-studies"));
  return [...studies].reverse();
}

const restore = ({ name, address }: DeletedStudy) =>
  ask({
    title: `Restore ${name}`,
    text: "It comes back as it was when it was deleted, with all its results.",
    confirm: "Restore",
    fields: [{ name: "reason", label: "Reason", maxlength: 500, placeholder: "deleted by mistake", hint: "Optional." }],
    act: async ({ reason }) => {
      const study = await change<Study>("POST", studyApi(address, "/restoration"), reason ? { reason } : {});
      toast(`${study.name} is restored.`);
      go(studyPath(study.name));
    },
  });

export function DeletedStudies() {
  const { data, error, reload } = useRead(readAll, []);
  if (error && !data) return <Failed error={error} again={reload} />;
  if (!data) return <Loading part />;
  if (!data.length)
    return <Empty icon="file" title="No deleted studies" text="A deleted study can be restored here for some days." />;
  return (
    <ul class="deleted">
      {data.map((study) => (
        <li class="card" key={study.address}>
          <div>
            <h2>{study.name}</h2>
            <p class="quiet small">
              {`Deleted ${fullTime(study.deleted_at)} by ${actorWords(study.deleted_by)}`}
              {study.reason && `: ${study.reason}`}
            </p>
            <p class="quiet small">{`Erased for good ${fullTime(study.erased_at)}.`}</p>
          </div>
          <button type="button" aria-label={`Restore ${study.name}`} onClick={() => restore(study)}>
            Restore
          </button>
        </li>
      ))}
    </ul>
  );
}
