// Reads a stream of server-sent events.

export async function* events(response: Response): AsyncGenerator<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    buffer += value;
    let end = buffer.search(/\r?\n\r?\n/);
    while (end >= 0) {
      const event = buffer.slice(0, end);
      buffer = buffer.slice(end).replace(/^\r?\n\r?\n/, "");
      const data = event
        .split(/\r?\n/)
        .filter((it) => it.startsWith("data:"))
        .map((it) => it.slice(5).trimStart())
        .join("\n");
      if (data) yield data;
      end = buffer.search(/\r?\n\r?\n/);
    }
  }
}
