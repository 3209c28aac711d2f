import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// File names have no hash: the server sends an ETag with each file, and a build replaces the committed files instead of
// adding new ones.
export default defineConfig({
  base: "/",
  plugins: [svelte()],
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8080", "/console": "http://127.0.0.1:8080" } },
});
