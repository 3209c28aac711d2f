//! The OLE compound file of Office 97 to 2003: a small file system, from which one stream is read.

use crate::fault::{self, Unreadable};

/// Ends each chain of sectors.
const END_OF_CHAIN: u32 = 0xffff_fffe;
/// Offset and length of the list of table sectors in the header.
const LIST_AT: usize = 76;
const LIST_ENTRIES: usize = 109;
const HEADER_BYTES: usize = 512;
const ENTRY_BYTES: usize = 128;

pub(crate) struct Compound<'a> {
    bytes: &'a [u8],
    sector_bytes: usize,
    /// The sector allocation table: the successor of each sector.
    table: Vec<u32>,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    start: u32,
    size: usize,
}

impl<'a> Compound<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Compound<'a>, Unreadable> {
        let sector_bytes = match half(bytes, 30)? {
            9 => 512,
            12 => 4096,
            _ => return Err(fault::DAMAGED),
        };
        let mut compound = Compound { bytes, sector_bytes, table: Vec::new(), entries: Vec::new() };
        compound.table = compound.read_table()?;
        let directory = compound.chain(word(bytes, 48)?)?;
        for entry in directory.chunks_exact(ENTRY_BYTES) {
            compound.entries.push(Entry::of(entry)?);
        }
        Ok(compound)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    pub(crate) fn stream(&self, name: &str) -> Result<Vec<u8>, Unreadable> {
        let entry = self.entry(name).ok_or(fault::MISSING_PART)?;
        // Smaller streams are stored elsewhere, which is not supported. Programs make workbook
        // streams larger than that.
        let small_below = word(self.bytes, 56)?;
        if u32::try_from(entry.size).is_ok_and(|size| size < small_below) {
            return Err(fault::OLD_OFFICE);
        }
        let mut stream = self.chain(entry.start)?;
        if stream.len() < entry.size {
            return Err(fault::DAMAGED);
        }
        stream.truncate(entry.size);
        Ok(stream)
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The table is stored in sectors that are listed in the header and, if there are many, in
    /// further sectors.
    fn read_table(&self) -> Result<Vec<u32>, Unreadable> {
        let header = self.bytes.get(LIST_AT..HEADER_BYTES).ok_or(fault::DAMAGED)?;
        let mut sectors: Vec<u32> = words(header).take(LIST_ENTRIES).collect();
        let mut next = word(self.bytes, 68)?;
        for _ in 0..self.sectors_max() {
            let Ok(sector) = self.sector(next) else { break };
            sectors.extend(words(sector));
            next = sectors.pop().unwrap_or(END_OF_CHAIN);
        }
        let mut table = Vec::new();
        // Numbers beyond the file mark free entries.
        for sector in sectors.into_iter().take(self.sectors_max()) {
            let Ok(sector) = self.sector(sector) else { break };
            table.extend(words(sector));
        }
        Ok(table)
    }

    /// The bytes of a chain of sectors; at most as many sectors as the file has.
    fn chain(&self, start: u32) -> Result<Vec<u8>, Unreadable> {
        let mut bytes = Vec::new();
        let mut sector = start;
        for _ in 0..self.sectors_max() {
            if sector == END_OF_CHAIN {
                return Ok(bytes);
            }
            bytes.extend_from_slice(self.sector(sector)?);
            sector = at(&self.table, sector)?;
        }
        Err(fault::DAMAGED)
    }

    /// Sector 0 follows the header, which takes one sector. The last sector may be truncated.
    fn sector(&self, number: u32) -> Result<&'a [u8], Unreadable> {
        let number = usize::try_from(number).map_err(|_| fault::DAMAGED)?;
        let from = number.checked_add(1).and_then(|it| it.checked_mul(self.sector_bytes));
        let from = from.filter(|from| *from < self.bytes.len()).ok_or(fault::DAMAGED)?;
        let to = from.saturating_add(self.sector_bytes).min(self.bytes.len());
        self.bytes.get(from..to).ok_or(fault::DAMAGED)
    }

    fn sectors_max(&self) -> usize {
        self.bytes.len() / self.sector_bytes + 1
    }
}

impl Entry {
    fn of(bytes: &[u8]) -> Result<Entry, Unreadable> {
        let name_bytes = usize::from(half(bytes, 64)?).min(64).saturating_sub(2);
        let (units, _) = bytes.get(..name_bytes).unwrap_or_default().as_chunks::<2>();
        let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
        Ok(Entry {
            name: String::from_utf16_lossy(&units),
            start: word(bytes, 116)?,
            size: usize::try_from(word(bytes, 120)?).map_err(|_| fault::DAMAGED)?,
        })
    }
}

fn at(table: &[u32], sector: u32) -> Result<u32, Unreadable> {
    let index = usize::try_from(sector).map_err(|_| fault::DAMAGED)?;
    table.get(index).copied().ok_or(fault::DAMAGED)
}

fn half(bytes: &[u8], at: usize) -> Result<u16, Unreadable> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>());
    found.map(|it| u16::from_le_bytes(*it)).ok_or(fault::DAMAGED)
}

fn word(bytes: &[u8], at: usize) -> Result<u32, Unreadable> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    found.map(|it| u32::from_le_bytes(*it)).ok_or(fault::DAMAGED)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word))
}
