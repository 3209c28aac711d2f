//! The records of an old workbook, with the numbers and strings in them.

use crate::fault::{self, DocumentReadError};

/// A record that continues the previous one.
const CONTINUE: u16 = 0x3c;

/// A record with its continuations.
pub(crate) struct XlsRecord<'a> {
    pub(crate) kind: u16,
    pieces: Vec<&'a [u8]>,
    piece: usize,
    position: usize,
}

impl<'a> XlsRecord<'a> {
    /// The record at an offset and the offset of the next one; `None` at the end.
    pub(crate) fn read_at(
        stream: &'a [u8],
        place: usize,
    ) -> Result<Option<(XlsRecord<'a>, usize)>, DocumentReadError> {
        let Some(RecordPiece { kind, body, mut next }) = read_piece(stream, place)? else {
            return Ok(None);
        };
        let mut pieces = vec![body];
        while let Some(RecordPiece { kind: CONTINUE, body, next: after }) =
            read_piece(stream, next)?
        {
            pieces.push(body);
            next = after;
        }
        Ok(Some((XlsRecord { kind, pieces, piece: 0, position: 0 }, next)))
    }

    pub(crate) fn read_byte(&mut self) -> Result<u8, DocumentReadError> {
        let [byte] = self.take()?;
        Ok(byte)
    }

    pub(crate) fn read_u16(&mut self) -> Result<u16, DocumentReadError> {
        self.take().map(u16::from_le_bytes)
    }

    pub(crate) fn read_u32(&mut self) -> Result<u32, DocumentReadError> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], DocumentReadError> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = *self.rest().first().ok_or(fault::DAMAGED)?;
            self.position += 1;
        }
        Ok(bytes)
    }

    pub(crate) fn skip(&mut self, mut count: usize) {
        while 0 < count {
            let here = self.rest().len().min(count);
            if here == 0 {
                return;
            }
            self.position += here;
            count -= here;
        }
    }

    pub(crate) fn has_more(&mut self) -> bool {
        !self.rest().is_empty()
    }

    /// Reads a string with its flags; skips its formatting runs.
    pub(crate) fn read_text(&mut self, characters: usize) -> Result<String, DocumentReadError> {
        let mut form = StringFlags(self.read_byte()?);
        let runs = if form.0 & 8 == 0 { 0 } else { usize::from(self.read_u16()?) * 4 };
        let extra = if form.0 & 4 == 0 { 0 } else { self.read_u32()? };
        let mut units: Vec<u16> = Vec::new();
        let mut piece = self.piece;
        while units.len() < characters {
            if self.rest().is_empty() {
                return Err(fault::DAMAGED);
            }
            // A continuation repeats the flags.
            if self.piece != piece {
                piece = self.piece;
                form = StringFlags(self.read_byte()?);
            }
            let unit = if form.is_wide() { self.read_u16()? } else { u16::from(self.read_byte()?) };
            units.push(unit);
        }
        self.skip(runs);
        self.skip(usize::try_from(extra).unwrap_or(usize::MAX));
        Ok(String::from_utf16_lossy(&units))
    }

    /// The rest of the current fragment, or of the next one.
    fn rest(&mut self) -> &'a [u8] {
        loop {
            let Some(piece) = self.pieces.get(self.piece) else { return &[] };
            let rest = piece.get(self.position..).unwrap_or_default();
            if !rest.is_empty() {
                return rest;
            }
            (self.piece, self.position) = (self.piece + 1, 0);
        }
    }
}

/// The flags before a string.
struct StringFlags(u8);

impl StringFlags {
    /// True for two bytes per character; otherwise one.
    fn is_wide(&self) -> bool {
        self.0 & 1 == 1
    }
}

/// A single record, and the offset of the next one.
struct RecordPiece<'a> {
    kind: u16,
    body: &'a [u8],
    next: usize,
}

fn read_piece(stream: &[u8], place: usize) -> Result<Option<RecordPiece<'_>>, DocumentReadError> {
    let Some(rest) = stream.get(place..).filter(|rest| !rest.is_empty()) else { return Ok(None) };
    let [a, b, c, d] = *rest.first_chunk::<4>().ok_or(fault::DAMAGED)?;
    let from = place.saturating_add(4);
    let next = from.saturating_add(usize::from(u16::from_le_bytes([c, d])));
    let body = stream.get(from..next).ok_or(fault::DAMAGED)?;
    Ok(Some(RecordPiece { kind: u16::from_le_bytes([a, b]), body, next }))
}
