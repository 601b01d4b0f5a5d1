// A number in large type that stays on one line: the longer it is, the smaller.

export const Fitted = ({ children }: { children: string }) => (
  <strong class="number fitted" style={{ "--length": children.length }}>
    {children}
  </strong>
);
