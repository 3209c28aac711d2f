import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

export default {
  preprocess: vitePreprocess(),
  compilerOptions: {
    // What scrolls must be reachable by keyboard, and has nothing else in it to reach.
    warningFilter: (warning) => warning.code !== "a11y_no_noninteractive_tabindex",
  },
};
