//! Splits a stream of server-sent events into events.

use bytes::Bytes;

/// Collects the bytes of a stream.
#[derive(Default)]
pub(in crate::endpoints::responses) struct EventSplitter {
    rest: Vec<u8>,
}

/// One event: its name, and its data if that is one line.
pub(in crate::endpoints::responses) struct SplitEvent {
    pub(in crate::endpoints::responses) raw: Vec<u8>,
    pub(in crate::endpoints::responses) data: Option<String>,
}

impl EventSplitter {
    /// The events that are complete with these bytes.
    pub(in crate::endpoints::responses) fn push(&mut self, bytes: &Bytes) -> Vec<SplitEvent> {
        self.rest.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
            let tail = self.rest.split_off(end + 2);
            let raw = std::mem::replace(&mut self.rest, tail);
            let data = find_data(&raw);
            events.push(SplitEvent { raw, data });
        }
        events
    }
}

fn find_data(raw: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(raw).ok()?;
    let data = text.lines().find_map(|line| line.strip_prefix("data: "))?;
    data.starts_with('{').then(|| data.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_whole_however_their_bytes_arrive() {
        let text = "event: a\ndata: {\"x\":1}\n\n: keep-alive\n\ndata: [DONE]\n\n";
        for cut in 0..text.len() {
            let mut splitter = EventSplitter::default();
            let (first, second) = text.split_at(cut);
            let mut events = splitter.push(&Bytes::from(first));
            events.extend(splitter.push(&Bytes::from(second)));
            let data: Vec<_> = events.iter().map(|event| event.data.as_deref()).collect();
            assert_eq!(data, [Some("{\"x\":1}"), None, None], "{cut}");
            let raw: Vec<u8> = events.into_iter().flat_map(|event| event.raw).collect();
            assert_eq!(raw, text.as_bytes());
        }
    }
}
