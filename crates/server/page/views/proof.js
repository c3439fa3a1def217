// The address of a run's proof; it is shown with the spec.

export { default } from "./spec.js";
