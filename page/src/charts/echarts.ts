// What most charts need of Apache ECharts: a chunk of its own, read with the first chart. Each part is imported by its
// own file: what two chunks import from one index, esbuild would put into a chunk that both wait for.

import "../base.ts";
import "echarts/lib/chart/bar";
import "echarts/lib/chart/line";
import "echarts/lib/chart/scatter";
import "echarts/lib/component/dataZoomInside";
import "echarts/lib/component/gridSimple";
import "echarts/lib/component/markLine";
import "echarts/lib/component/tooltip";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

use([SVGRenderer]);

export { init };
