// What several of the views that are read later share: terms with their explanations, charts, dialogs. Each of these views
// imports this, so that esbuild puts all of it into one chunk, as it does with src/base.ts.

import "../../base.ts";
import "../../charts/chart.tsx";
import "../../parts/term.tsx";
import "../upload.tsx";
import "./batch_charts.tsx";
import "./reserving.tsx";
