//! Reads server-sent events: their data only.

/// The events so far. The connection bounds the bytes that are pushed.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    ends_with_return: bool,
}

impl EventReader {
    /// The data of the events that the next bytes complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        for byte in bytes {
            let follows_return = std::mem::replace(&mut self.ends_with_return, *byte == b'\r');
            match byte {
                b'\n' if follows_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(*byte),
            }
        }
        events
    }

    /// The data of an event, if the line ends one.
    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let has_data = std::mem::take(&mut self.has_data);
            let data = std::mem::take(&mut self.data);
            return has_data.then_some(data);
        }
        let value = line.strip_prefix(b"data")?;
        let value = match value {
            [] => value,
            [b':', rest @ ..] => rest.strip_prefix(b" ").unwrap_or(rest),
            _ => return None,
        };
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_their_bytes_are_split() {
        let stream = ": ping\r\nevent: message\r\ndata: {\"a\":\r\ndata:1}\r\n\r\nid: 7\n\ndata\ndata: x\n\nlost: data\rdata: y\r\r";
        let expected = vec!["{\"a\":\n1}", "\nx", "y"];
        for size in 1..stream.len() {
            let mut reader = EventReader::default();
            let pieces = stream.as_bytes().chunks(size);
            let events: Vec<Vec<u8>> = pieces.flat_map(|piece| reader.push(piece)).collect();
            let events: Vec<&str> =
                events.iter().map(|it| std::str::from_utf8(it).unwrap()).collect();
            assert_eq!(events, expected, "pieces of {size} bytes");
        }
    }

    #[test]
    fn an_event_that_is_not_ended_is_none() {
        assert!(EventReader::default().push(b"data: {}\n").is_empty());
    }
}
