// Asks an emulator of Azure Blob Storage without any client of ours; needs no package.
//
//   azurite.mjs ENDPOINT ACCOUNT KEY make CONTAINER   makes a container, which rechunk never does
//   azurite.mjs ENDPOINT ACCOUNT KEY list CONTAINER   one line for each blob: its name, or `unfinished` and its name
//                                                     where there are blocks that nobody has committed
//
// ENDPOINT is http://HOST:PORT/ACCOUNT.
import { createHmac } from "node:crypto";

const [endpoint, account, key, command, container] = process.argv.slice(2);

/** Sends a request without a body, authorized by Shared Key, and gives back the text of the answer. */
async function ask(method, parameters, status) {
    const headers = { "x-ms-date": new Date().toUTCString(), "x-ms-version": "2021-12-02" };
    const sorted = Object.entries(parameters).sort(([a], [b]) => (a < b ? -1 : 1));
    // Method, eleven headers that are not sent, those of Azure, the resource.
    const signed = [
        method, ...Array(11).fill(""),
        ...Object.entries(headers).map(([name, value]) => `${name}:${value}`),
        `/${account}/${account}/${container}`,
        ...sorted.map(([name, value]) => `${name}:${value}`),
    ].join("\n");
    const signature = createHmac("sha256", Buffer.from(key, "base64")).update(signed).digest("base64");
    const answer = await fetch(`${endpoint}/${container}?${new URLSearchParams(parameters)}`, {
        method,
        headers: { ...headers, authorization: `SharedKey ${account}:${signature}` },
    });
    const text = await answer.text();
    if (answer.status !== status) throw new Error(`${method} ${container}: ${answer.status} ${text}`);
    return text;
}

async function names(include) {
    const found = [];
    let marker = "";
    do {
        const page = { restype: "container", comp: "list", ...include, ...(marker && { marker }) };
        const text = await ask("GET", page, 200);
        found.push(...[...text.matchAll(/<Name>([^<]*)<\/Name>/g)].map((match) => match[1]));
        marker = /<NextMarker>([^<]+)<\/NextMarker>/.exec(text)?.[1] ?? "";
    } while (marker);
    return found;
}

if (command === "make") {
    await ask("PUT", { restype: "container" }, 201);
} else if (command === "list") {
    const blobs = await names({});
    const all = await names({ include: "uncommittedblobs" });
    const unfinished = all.filter((name) => !blobs.includes(name)).map((name) => `unfinished ${name}`);
    process.stdout.write([...blobs, ...unfinished].map((line) => `${line}\n`).join(""));
} else {
    throw new Error(`${command} is neither make nor list`);
}
