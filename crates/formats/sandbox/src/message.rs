//! The message format between parent and child: a JSON header and raw bytes, each with its length.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const PREFIX_BYTES: usize = 16;
/// Headers have a few fields; large data goes into the bytes.
const HEAD_BYTES_MAX: u64 = 1024 * 1024;
/// Maximum input of a child: more than any accepted request body.
pub(crate) const REQUEST_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// The lengths of both parts.
fn encode_prefix(head: &[u8], bytes: &[u8]) -> [u8; PREFIX_BYTES] {
    let lengths = [head.len() as u64, bytes.len() as u64];
    let mut prefix = [0; PREFIX_BYTES];
    prefix[..8].copy_from_slice(&lengths[0].to_le_bytes());
    prefix[8..].copy_from_slice(&lengths[1].to_le_bytes());
    prefix
}

fn parse_lengths(prefix: [u8; PREFIX_BYTES], bytes_max: u64) -> io::Result<(usize, usize)> {
    let number = |at: usize| prefix[at..at + 8].try_into().map(u64::from_le_bytes);
    let (Ok(head), Ok(bytes)) = (number(0), number(8)) else {
        return Err(invalid_message("no length"));
    };
    if HEAD_BYTES_MAX < head || bytes_max < bytes {
        return Err(invalid_message("a message is too long"));
    }
    let fits =
        |length: u64| usize::try_from(length).map_err(|_| invalid_message("a message is too long"));
    Ok((fits(head)?, fits(bytes)?))
}

fn invalid_message(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

pub(crate) fn write_message(
    to: &mut impl Write,
    head: &impl Serialize,
    bytes: &[u8],
) -> io::Result<()> {
    let head = serde_json::to_vec(head)?;
    to.write_all(&encode_prefix(&head, bytes))?;
    to.write_all(&head)?;
    to.write_all(bytes)?;
    to.flush()
}

/// Returns `None` if the other side has closed.
pub(crate) fn read_message<H: DeserializeOwned>(
    from: &mut impl Read,
) -> io::Result<Option<(H, Vec<u8>)>> {
    let mut prefix = [0; PREFIX_BYTES];
    match from.read_exact(&mut prefix) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let (head_length, length) = parse_lengths(prefix, REQUEST_BYTES_MAX)?;
    let mut head = vec![0; head_length];
    from.read_exact(&mut head)?;
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(Some((serde_json::from_slice(&head)?, bytes)))
}

pub(crate) async fn send_message(
    to: &mut (impl AsyncWrite + Unpin),
    head: &impl Serialize,
    bytes: &[u8],
) -> io::Result<()> {
    let head = serde_json::to_vec(head)?;
    to.write_all(&encode_prefix(&head, bytes)).await?;
    to.write_all(&head).await?;
    to.write_all(bytes).await?;
    to.flush().await
}

/// Allocates while bytes arrive, because a compromised child may declare any length.
pub(crate) async fn receive_message<H: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
    bytes_max: usize,
) -> io::Result<(H, Vec<u8>)> {
    let mut prefix = [0; PREFIX_BYTES];
    from.read_exact(&mut prefix).await?;
    let (head_length, length) = parse_lengths(prefix, bytes_max as u64)?;
    let head = read_exactly(from, head_length).await?;
    let bytes = read_exactly(from, length).await?;
    Ok((serde_json::from_slice(&head)?, bytes))
}

async fn read_exactly(from: &mut (impl AsyncRead + Unpin), length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes).await?;
    if bytes.len() == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut pipe = Vec::new();
        write_message(&mut pipe, &"head", b"bytes").unwrap();
        let (head, bytes): (String, _) = read_message(&mut pipe.as_slice()).unwrap().unwrap();
        assert_eq!((head.as_str(), bytes.as_slice()), ("head", b"bytes".as_slice()));
        let end: Option<(String, _)> = read_message(&mut [].as_slice()).unwrap();
        assert!(end.is_none());
    }

    #[test]
    fn a_message_longer_than_allowed_is_refused_by_its_length() {
        let prefix = encode_prefix(b"{}", b"12345");
        assert!(parse_lengths(prefix, 5).is_ok());
        assert!(parse_lengths(prefix, 4).is_err());
    }
}
