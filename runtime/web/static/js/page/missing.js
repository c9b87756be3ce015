import { empty, link, panel } from "../parts.js";

export const title = () => "Not found";

export async function open(page) {
  page.view(() => panel("Not found", {}, empty("There is no page at this address", location.pathname, link("/", "To the overview"))));
}
