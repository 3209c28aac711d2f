// Starts the one page; everything else is shown by its router.
import { mount } from "svelte";
import App from "./App.svelte";
import "./style.css";

mount(App, { target: document.getElementById("app")! });
