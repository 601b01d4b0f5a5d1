// A line of a few words' height: the shape, and where it is now.

const WIDTH = 200;
const HEIGHT = 44;

interface SparkProps {
  values: (number | null)[];
  title: string;
  tone?: string;
  step?: boolean;
}

export function Spark({ values, title, tone = "", step = false }: SparkProps) {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  const label = known.length < 2 ? `${title}: nothing yet` : title;
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {known.length > 1 && <path class={`line ${tone}`} d={pathOf(known, step)} />}
    </svg>
  );
}

function pathOf(values: number[], step: boolean): string {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const x = (position: number) => 2 + (position / (values.length - 1)) * (WIDTH - 8);
  const y = (value: number) =>
    high === low ? HEIGHT / 2 : HEIGHT - 5 - ((value - low) / (high - low)) * (HEIGHT - 10);
  return values
    .map((value, position) => {
      if (!position) return `M${x(0)},${y(value)}`;
      return step ? `H${x(position)}V${y(value)}` : `L${x(position)},${y(value)}`;
    })
    .join("");
}
