// What the page needs at once, in one file. Every part that is read later imports this, so that esbuild puts all of it
// into one chunk: each further file would cost a slow line another round trip.

import "./core/live.ts";
import "./core/outbox.ts";
import "./parts/bar.tsx";
import "./parts/dialog.tsx";
import "./parts/states.tsx";
import "./views/bench/bench.tsx";
import "./views/signin.tsx";
import "./views/studies.tsx";
import "./views/study/facts.ts";
