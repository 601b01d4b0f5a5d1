// Help: how a study goes, the keys of the keyboard, and every term in a chemist's words. Works without the internet.

import "./study/details.ts";
import { useState } from "preact/hooks";
import { at, type Place } from "../core/address.ts";
import { useTitle } from "../core/hooks.ts";
import { TERMS } from "../parts/terms.ts";
import { Guide, guideList } from "./guide.tsx";

const STEPS: [string, string][] = [
  [
    "List the candidates",
    "Put everything you could measure into a file, one row each: a key, then its conditions. Drop the file under New study.",
  ],
  [
    "Ask for a batch",
    "The server chooses the measurements that teach or gain the most together. Say how many you can make, or let it decide.",
  ],
  [
    "Measure and report",
    "Open the bench on a tablet, type each value and press Enter. Without a connection, carry on: the device keeps the values and sends them later.",
  ],
  [
    "Look and decide",
    "The overview says what is known and what to do next. Insights shows which conditions matter; Results lists every value beside what was expected.",
  ],
  [
    "Stop when it pays",
    "Still to gain says how much better any other candidate could be, at most. When that is not worth another batch, stop.",
  ],
];

const KEYS: [string, string][] = [
  ["Enter, at the bench", "save the value and go to the next row"],
  ["Arrow keys, in a chart", "walk through its points; Enter opens the candidate"],
  ["Escape", "close a candidate, a dialog or the wall screen"],
  ["Ctrl and the wheel, in a chart", "zoom; drag to move"],
  ["A barcode scanner, at the bench", "goes to the row of the key it reads"],
];

const MISTAKES: [string, string][] = [
  [
    "A wrong value was saved",
    "Press Undo within ten seconds, or Correct at any time, with a reason. The old value stays in the history.",
  ],
  [
    "A vial broke",
    "Press Failed and say what happened. The candidate may be suggested again, unless you say that it is not worth trying.",
  ],
  ["A candidate is out of stock", "Open it and mark it as unavailable. It is no longer suggested; its results stay."],
  ["The wrong sheet was uploaded", "In Results, choose its rows and take them back."],
  ["A value is refused as implausible", "Check the decimal sign and the unit. If it is right, save it anyway."],
];

export default function Help({ place }: { place: Place }) {
  const guide = place.view === "help" ? place.guide : undefined;
  return guide ? <Guide id={guide} key={guide} /> : <Index />;
}

function Index() {
  const [find, setFind] = useState("");
  useTitle("Help");
  const sought = find.toLowerCase();
  const terms = Object.values(TERMS).filter(({ title, text }) => `${title} ${text}`.toLowerCase().includes(sought));
  return (
    <div class="page narrow help">
      <div class="head">
        <h1>Help</h1>
      </div>
      <section class="card">
        <h2>How a study goes</h2>
        <ol class="help-steps">
          {STEPS.map(([title, text]) => (
            <li key={title}>
              <b>{title}</b>
              <span>{text}</span>
            </li>
          ))}
        </ol>
      </section>
      <section class="card">
        <h2>Guides</h2>
        <ul class="guide-links">
          {guideList().map(({ id, title }) => (
            <li key={id}>
              <a href={at(`help/${id}`)}>{title}</a>
            </li>
          ))}
        </ul>
      </section>
      <Pairs title="When something goes wrong" pairs={MISTAKES} />
      <Pairs title="Keyboard" pairs={KEYS} />
      <section class="card">
        <header>
          <h2>Words</h2>
          <span class="push" />
          <input
            class="search"
            type="search"
            placeholder="Find a word"
            aria-label="Find a word"
            onInput={(event) => setFind(event.currentTarget.value)}
          />
        </header>
        <dl class="words">
          {terms.map(({ title, text }) => (
            <div key={title}>
              <dt>{title}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
        {!terms.length && <p class="quiet">No word contains that.</p>}
      </section>
      <p class="quiet">
        {"Programs do all of this over the API: "}
        <a href={at("docs")} target="_blank" rel="noreferrer">
          its description
        </a>
        .
      </p>
    </div>
  );
}

function Pairs({ title, pairs }: { title: string; pairs: [string, string][] }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      <dl class="words">
        {pairs.map(([when, what]) => (
          <div key={when}>
            <dt>{when}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
