//! The format of the charge log's file: block-aligned records, one per commit.
//!
//! A record is only written once the one before it is on disk. So the records of a generation are
//! those from the start of its area up to the first incomplete one: that one was being written when
//! the process ended, and was never acknowledged. A complete record after a broken one means that
//! the disk lost data.

/// Writes are whole, aligned blocks, as direct I/O requires. No current disk has larger sectors.
pub(crate) const BLOCK_BYTES: usize = 4096;

const MARK: [u8; 4] = *b"Toll";
const CHECKSUM: std::ops::Range<usize> = 4..8;
const GENERATION: std::ops::Range<usize> = 8..16;
const NUMBER: std::ops::Range<usize> = 16..20;
const LENGTH: std::ops::Range<usize> = 20..24;
const HEADER_BYTES: usize = 24;

/// The position of a record in the order in which all were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordPosition {
    /// Raised by every posting, so it separates posted records from others.
    pub(crate) generation: i64,
    /// Counts from zero in each generation.
    pub(crate) number: u32,
}

/// The reason why the records of a file cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChargeLogError {
    #[error("its record {0} is damaged, and others follow it; restore a backup, or ask for help")]
    Damaged(u32),
    #[error(
        "it is newer than the database, as if that had been restored from a backup without it; \
         to go on without what was charged since, move the file away"
    )]
    Later,
    #[error(
        "it was written by an earlier release; start and stop the release that wrote it, which \
         posts it, and then this one"
    )]
    Misplaced,
}

/// The bytes in the file of a record with `charges` bytes of charges.
pub(crate) fn record_size(charges: usize) -> usize {
    (HEADER_BYTES + charges).next_multiple_of(BLOCK_BYTES)
}

/// Fills `record`, whose length is that of [`record_size`].
pub(crate) fn write_record(record: &mut [u8], position: RecordPosition, charges: &[u8]) {
    let length = u32::try_from(charges.len()).unwrap_or(u32::MAX);
    let end = HEADER_BYTES + charges.len();
    record[..MARK.len()].copy_from_slice(&MARK);
    record[GENERATION].copy_from_slice(&position.generation.to_le_bytes());
    record[NUMBER].copy_from_slice(&position.number.to_le_bytes());
    record[LENGTH].copy_from_slice(&length.to_le_bytes());
    record[HEADER_BYTES..end].copy_from_slice(charges);
    record[end..].fill(0);
    let checksum = crc32fast::hash(&record[GENERATION.start..end]);
    record[CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
}

/// The charges of every record of a generation, in order.
pub(crate) fn read_records(area: &[u8], generation: i64) -> Result<Vec<&[u8]>, ChargeLogError> {
    let mut records = Vec::new();
    let mut rest = area;
    while let Some((position, charges)) = parse_first_record(rest) {
        let number = u32::try_from(records.len()).unwrap_or(u32::MAX);
        if position != (RecordPosition { generation, number }) {
            break;
        }
        records.push(charges);
        rest = rest.get(record_size(charges.len())..).unwrap_or_default();
    }
    for position in find_complete_records(rest) {
        if position.generation == generation {
            return Err(ChargeLogError::Damaged(u32::try_from(records.len()).unwrap_or(u32::MAX)));
        }
        if generation < position.generation {
            return Err(ChargeLogError::Later);
        }
    }
    Ok(records)
}

/// An incomplete record at the position of the next one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IncompleteRecord<'a> {
    pub(crate) number: u32,
    /// The available part of its charges.
    pub(crate) charges: &'a [u8],
}

/// The incomplete record after the last complete one of this generation, if any. Either it was
/// being written when the process ended, and was never acknowledged; or it was acknowledged, and
/// the disk has damaged it since. The two cannot be told apart.
pub(crate) fn find_incomplete_record(area: &[u8], generation: i64) -> Option<IncompleteRecord<'_>> {
    let (mut rest, mut number) = (area, 0);
    while let Some((position, charges)) = parse_first_record(rest) {
        if position != (RecordPosition { generation, number }) {
            return None;
        }
        number += 1;
        rest = rest.get(record_size(charges.len())..).unwrap_or_default();
    }
    let header = rest.get(..HEADER_BYTES)?;
    let is_next = header.starts_with(&MARK)
        && header[GENERATION] == generation.to_le_bytes()
        && header[NUMBER] == number.to_le_bytes();
    if !is_next {
        return None;
    }
    let length = u32::from_le_bytes(header[LENGTH].try_into().ok()?);
    let end = HEADER_BYTES.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
    Some(IncompleteRecord { number, charges: &rest[HEADER_BYTES..end.min(rest.len())] })
}

/// True if a file has any complete record, of any generation.
pub(crate) fn has_records(file: &[u8]) -> bool {
    find_complete_records(file).next().is_some()
}

/// True if an area has any complete record of a generation.
pub(crate) fn has_any(area: &[u8], generation: i64) -> bool {
    find_complete_records(area).any(|position| position.generation == generation)
}

/// The positions of all complete records, at any block.
fn find_complete_records(bytes: &[u8]) -> impl Iterator<Item = RecordPosition> {
    let blocks = (0..bytes.len()).step_by(BLOCK_BYTES).map(|start| &bytes[start..]);
    blocks.filter_map(|block| parse_first_record(block).map(|(position, _)| position))
}

/// The record at the start of these bytes, if it is complete.
fn parse_first_record(bytes: &[u8]) -> Option<(RecordPosition, &[u8])> {
    let header = bytes.get(..HEADER_BYTES)?;
    if !header.starts_with(&MARK) {
        return None;
    }
    let length = u32::from_le_bytes(header[LENGTH].try_into().ok()?);
    let end = HEADER_BYTES.checked_add(usize::try_from(length).ok()?)?;
    let checked = bytes.get(GENERATION.start..end)?;
    let checksum = u32::from_le_bytes(header[CHECKSUM].try_into().ok()?);
    if crc32fast::hash(checked) != checksum {
        return None;
    }
    let generation = i64::from_le_bytes(header[GENERATION].try_into().ok()?);
    let number = u32::from_le_bytes(header[NUMBER].try_into().ok()?);
    Some((RecordPosition { generation, number }, &bytes[HEADER_BYTES..end]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: i64 = 7;

    fn file(records: &[(i64, u32, &[u8])]) -> Vec<u8> {
        let mut file = Vec::new();
        for (generation, number, charges) in records {
            let position = RecordPosition { generation: *generation, number: *number };
            let mut record = vec![0xFF; record_size(charges.len())];
            write_record(&mut record, position, charges);
            file.extend(record);
        }
        file
    }

    #[test]
    fn records_are_read_in_their_order_and_older_ones_passed_over() {
        let long = vec![5; 3 * BLOCK_BYTES];
        let now = file(&[(NOW, 0, b"one"), (NOW, 1, &long), (NOW, 2, b"three"), (NOW - 1, 3, b"")]);
        assert_eq!(read_records(&now, NOW), Ok(vec![&b"one"[..], &long, b"three"]));
        assert_eq!(read_records(&now, NOW + 1), Ok(vec![]));
        assert_eq!(
            read_records(&file(&[(NOW - 1, 0, b"old"), (NOW - 1, 1, b"old")]), NOW),
            Ok(vec![])
        );
        assert_eq!(read_records(&[0; 3 * BLOCK_BYTES], NOW), Ok(vec![]));
        assert_eq!(read_records(b"", NOW), Ok(vec![]));
    }

    #[test]
    fn a_file_that_is_ahead_of_its_database_is_not_used() {
        assert_eq!(read_records(&file(&[(NOW + 1, 0, b"later")]), NOW), Err(ChargeLogError::Later));
        let both = file(&[(NOW, 0, b"now"), (NOW + 2, 1, b"later")]);
        assert_eq!(read_records(&both, NOW), Err(ChargeLogError::Later));
    }

    #[test]
    fn a_record_that_is_whole_behind_one_that_is_not_tells_of_damage() {
        let mut file = file(&[(NOW, 0, b"one"), (NOW, 1, b"two"), (NOW, 2, b"three")]);
        file[BLOCK_BYTES + HEADER_BYTES] ^= 1;
        assert_eq!(read_records(&file, NOW), Err(ChargeLogError::Damaged(1)));
        file.truncate(2 * BLOCK_BYTES);
        assert_eq!(read_records(&file, NOW), Ok(vec![&b"one"[..]]));
    }

    #[test]
    fn a_last_record_that_is_not_whole_is_told_with_what_is_there_of_it() {
        let whole = file(&[(NOW, 0, b"one"), (NOW, 1, b"two")]);
        assert_eq!(find_incomplete_record(&whole, NOW), None);
        let mut damaged = whole.clone();
        damaged[BLOCK_BYTES + HEADER_BYTES] ^= 1;
        assert_eq!(
            find_incomplete_record(&damaged, NOW),
            Some(IncompleteRecord { number: 1, charges: b"uwo" })
        );
        // Remains of an earlier generation are ignored.
        let earlier = file(&[(NOW, 0, b"one"), (NOW - 1, 1, b"two")]);
        assert_eq!(find_incomplete_record(&earlier, NOW), None);
        damaged[BLOCK_BYTES..BLOCK_BYTES + HEADER_BYTES].fill(0);
        assert_eq!(
            find_incomplete_record(&damaged, NOW),
            None,
            "without a header nothing is known of it"
        );
        assert!(has_records(&whole));
        assert!(!has_records(&[0; 3 * BLOCK_BYTES]));
    }

    #[test]
    fn a_record_that_is_missing_between_two_tells_of_damage() {
        let file = file(&[(NOW, 0, b"one"), (NOW, 2, b"three")]);
        assert_eq!(read_records(&file, NOW), Err(ChargeLogError::Damaged(1)));
    }

    proptest! {
        /// Only the start of the last record has reached the disk, over the old contents.
        #[test]
        fn a_record_cut_anywhere_is_none(
            charges in prop::collection::vec(any::<u8>(), 1..2 * BLOCK_BYTES),
            older in prop::collection::vec(any::<u8>(), 1..2 * BLOCK_BYTES),
            cut in any::<prop::sample::Index>(),
        ) {
            let before = file(&[(NOW, 0, b"acknowledged"), (NOW - 1, 1, &older)]);
            let written = file(&[(NOW, 0, b"acknowledged"), (NOW, 1, &charges)]);
            let end = BLOCK_BYTES + HEADER_BYTES + charges.len();
            let cut = BLOCK_BYTES + cut.index(end - BLOCK_BYTES);
            let mut torn = written[..cut].to_vec();
            torn.extend(before.get(cut..).unwrap_or_default());
            let records = read_records(&torn, NOW).unwrap();
            // The old contents may happen to equal the new ones.
            let is_same = torn.get(..end) == Some(&written[..end]);
            prop_assert_eq!(records.len(), 1 + usize::from(is_same));
        }

        #[test]
        fn nothing_makes_reading_panic(
            file in prop::collection::vec(any::<u8>(), 0..3 * BLOCK_BYTES),
            generation in any::<i64>(),
        ) {
            let mut marked = file;
            for block in marked.chunks_mut(BLOCK_BYTES) {
                let marks = MARK.len().min(block.len());
                block[..marks].copy_from_slice(&MARK[..marks]);
            }
            let _ = read_records(&marked, generation);
            let _ = find_incomplete_record(&marked, generation);
        }
    }
}
