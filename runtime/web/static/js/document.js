// A document has the dashboard's theme; on a phone its list of documents is folded.

import { apply } from "./settings.js";

apply();
if (matchMedia("(max-width: 900px)").matches) document.getElementById("contents").open = false;
