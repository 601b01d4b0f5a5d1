// The module that `guides.mjs` makes from the documents of the project.
declare module "guides" {
  export const GUIDES: { id: string; title: string; html: string }[];
}
