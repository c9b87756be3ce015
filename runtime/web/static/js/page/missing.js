import { h } from "../dom.js";
import { empty, link, panel } from "../components.js";

export const title = () => "Not found";

export async function open(page) {
  page.view(() => [h("div.page-head", h("h1", "Not found")), panel("Nothing here", {}, empty("There is no page at this address", location.pathname,
          link("/", "To the overview")))]);
}
