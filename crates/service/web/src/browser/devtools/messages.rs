//! Messages of a browser, each terminated by a zero byte and limited in length.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Responses begin with the id of their call.
const ANSWER_START: &[u8] = b"{\"id\":";
/// Maximum size of a response. The longest is the HTML of a page, which is truncated in the
/// browser; JSON takes up to six bytes per character.
pub(in super::super) const ANSWER_BYTES_MAX: usize = 24 * 1024 * 1024 + 64 * 1024;
/// Maximum size of an event. The longest part that is used is the body that a page posts.
const EVENT_BYTES_MAX: usize = 512 * 1024;

/// Reads messages one by one. A message above its limit is skipped without buffering it: pages
/// control the length of some messages.
pub(super) struct MessageReader<R> {
    from: BufReader<R>,
    message: Vec<u8>,
    is_passed_over: bool,
}

impl<R: AsyncRead + Unpin> MessageReader<R> {
    pub(super) fn new(from: R) -> MessageReader<R> {
        MessageReader { from: BufReader::new(from), message: Vec::new(), is_passed_over: false }
    }

    /// `None` at the end. Cancel safe.
    pub(super) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let read = self.from.fill_buf().await?;
            if read.is_empty() {
                return Ok(None);
            }
            let end = memchr::memchr(0, read);
            let part = &read[..end.unwrap_or(read.len())];
            if !self.is_passed_over {
                self.message.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.from.consume(used);
            if bytes_max(&self.message) < self.message.len() {
                self.message = Vec::new();
                self.is_passed_over = true;
            }
            if end.is_some() && !std::mem::take(&mut self.is_passed_over) {
                return Ok(Some(std::mem::take(&mut self.message)));
            }
        }
    }
}

fn bytes_max(message: &[u8]) -> usize {
    if message.starts_with(ANSWER_START) { ANSWER_BYTES_MAX } else { EVENT_BYTES_MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_message_that_is_too_long_is_passed_over_and_not_held() {
        let mut sent = b"{\"method\":\"first\"}\0{\"method\":\"".to_vec();
        sent.resize(sent.len() + 60_000_000, b'a');
        let mut cut_short = MessageReader::new(sent.as_slice());
        assert_eq!(cut_short.next().await.unwrap().unwrap(), b"{\"method\":\"first\"}");
        assert_eq!(cut_short.next().await.unwrap(), None);
        assert_eq!(cut_short.message.capacity(), 0, "nothing is held of it");

        sent.extend(b"\"}\0{\"id\":7}\0");
        let mut messages = MessageReader::new(sent.as_slice());
        messages.next().await.unwrap();
        assert_eq!(messages.next().await.unwrap().unwrap(), b"{\"id\":7}");
    }

    #[tokio::test]
    async fn an_answer_may_be_longer_than_an_event() {
        let answer = [ANSWER_START, &vec![b'1'; 2 * EVENT_BYTES_MAX], b"}\0"].concat();
        let mut messages = MessageReader::new(answer.as_slice());
        let read = messages.next().await.unwrap().unwrap();
        assert_eq!(read.len(), answer.len() - 1);
    }
}
