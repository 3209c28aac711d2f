import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// File names stay the same from build to build: the server sends an ETag with each, and the
// repository keeps one version of a file instead of another name at every change.
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
