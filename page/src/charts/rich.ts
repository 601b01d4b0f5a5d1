// What only some charts need of Apache ECharts: tiles, parallel coordinates, intervals, brushes, and the canvas.

import "../base.ts";
import "echarts/lib/chart/custom";
import "echarts/lib/chart/heatmap";
import "echarts/lib/chart/parallel";
import "echarts/lib/component/brush";
import "echarts/lib/component/parallel";
import "echarts/lib/component/visualMapContinuous";
import { use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([CanvasRenderer]);
