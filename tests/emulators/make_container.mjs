// make_container ENDPOINT ACCOUNT KEY CONTAINER: makes a container of an Azure Blob Storage emulator, whose
// endpoint is http://HOST:PORT/ACCOUNT. Needs no package. Rechunk itself makes none: containers are made by who owns them.
import { createHmac } from "node:crypto";

const [endpoint, account, key, container] = process.argv.slice(2);
const headers = { "x-ms-date": new Date().toUTCString(), "x-ms-version": "2021-12-02" };
// Shared Key authorization: method, eleven headers that are not sent, those of Azure, and the resource.
const text = [
    "PUT", ...Array(11).fill(""),
    ...Object.entries(headers).map(([name, value]) => `${name}:${value}`),
    `/${account}/${account}/${container}`, "restype:container",
].join("\n");
const signature = createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
const answer = await fetch(`${endpoint}/${container}?restype=container`, {
    method: "PUT",
    headers: { ...headers, authorization: `SharedKey ${account}:${signature}` },
});
if (answer.status !== 201) {
    console.error(`container ${container}: ${answer.status} ${await answer.text()}`);
    process.exit(1);
}
