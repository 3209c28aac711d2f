import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

export default {
  preprocess: vitePreprocess(),
  compilerOptions: {
    // Permits a tabindex on scrollable regions: without controls inside, the keyboard reaches them no other way.
    warningFilter: (warning) => warning.code !== "a11y_no_noninteractive_tabindex",
  },
};
