// Loads FOLDER/tokenizer.json and tokenizer_config.json, and encodes and decodes texts: node tokenizer.mjs FOLDER TEXT ...
// Beside a text lies TEXT.ids, its token ids as JSON.
import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";

const [folder, ...texts] = process.argv.slice(2);
const json = (path) => JSON.parse(readFileSync(path, "utf8"));
const tokenizer = new Tokenizer(json(folder + "/tokenizer.json"), json(folder + "/tokenizer_config.json"));

for (const path of texts) {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  const want = json(path + ".ids");
  const got = tokenizer.encode(text).ids;
  const at = want.findIndex((id, i) => id !== got[i]);
  if (got.length !== want.length || at >= 0) throw new Error(`${path}: ${got.length} ids, want ${want.length}; id ${at} is ${got[at]}, want ${want[at]}`);
  if (tokenizer.decode(want) !== text) throw new Error(`${path}: decoding gives another text`);
  console.log(`${path}: ${got.length} ids`);
}
