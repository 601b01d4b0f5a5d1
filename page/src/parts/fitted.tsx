// A number in large type that stays on one line: the longer it is, the smaller. Only one with a very long unit is broken.

const LONGEST = 32;

export const Fitted = ({ children }: { children: string }) => (
  <strong
    class={children.length > LONGEST ? "number fitted long" : "number fitted"}
    style={{ "--length": Math.min(LONGEST, children.length) }}
  >
    {children}
  </strong>
);
