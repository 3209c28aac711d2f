//! The text of a statement, for each database.
//!
//! It is written once, in Postgres's words. For SQLite a few are replaced when the program is
//! compiled. A part that the databases write in different ways is a [`SqlText`] with both.

/// A statement, or a part of one. Parameters are `$1`, `$2`, …
///
/// An empty text runs nothing: the database needs no statement there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqlText {
    pub sqlite: &'static str,
    pub postgres: &'static str,
}

/// A word of Postgres and its replacement.
struct ReplacedWord {
    postgres: &'static [u8],
    sqlite: &'static [u8],
}

const fn replace(postgres: &'static str, sqlite: &'static str) -> ReplacedWord {
    ReplacedWord { postgres: postgres.as_bytes(), sqlite: sqlite.as_bytes() }
}

const REPLACED: [ReplacedWord; 10] = [
    // SQLite numbers `$1` by its place in the text, and `?1` by its number.
    replace("$", "?"),
    // SQLite uses a partial index only if a flag is compared with the number of its `WHERE`.
    replace("TRUE", "1"),
    replace("FALSE", "0"),
    // Types of parameters, and of sums, which are wider than what they add up.
    replace("::bigint", ""),
    replace("::text", ""),
    replace("::uuid", ""),
    replace("::bytea", ""),
    replace("::bool", ""),
    replace("greatest(", "max("),
    // Skips rows that another node deletes at the same time.
    replace(" FOR UPDATE SKIP LOCKED", ""),
];

pub(crate) const EMPTY_BYTES: SqlText = SqlText { sqlite: "x''", postgres: "''" };

impl SqlText {
    pub(crate) const fn same(text: &'static str) -> SqlText {
        SqlText { sqlite: text, postgres: text }
    }

    /// Texts that are joined from parts, so they are UTF-8.
    pub(crate) const fn from_bytes(sqlite: &'static [u8], postgres: &'static [u8]) -> SqlText {
        match (std::str::from_utf8(sqlite), std::str::from_utf8(postgres)) {
            (Ok(sqlite), Ok(postgres)) => SqlText { sqlite, postgres },
            _ => unreachable!(),
        }
    }
}

/// The parts as one text for Postgres.
pub(crate) const fn join_for_postgres<const BYTES: usize>(parts: &[SqlText]) -> [u8; BYTES] {
    let (mut joined, mut filled, mut index) = ([0; BYTES], 0, 0);
    while index < parts.len() {
        filled = copy_bytes(parts[index].postgres.as_bytes(), &mut joined, filled);
        index += 1;
    }
    joined
}

pub(crate) const fn count_for_postgres(parts: &[SqlText]) -> usize {
    let (mut bytes, mut index) = (0, 0);
    while index < parts.len() {
        bytes += parts[index].postgres.len();
        index += 1;
    }
    bytes
}

/// The parts as one text for SQLite, whose words are replaced.
pub(crate) const fn join_for_sqlite<const BYTES: usize>(parts: &[SqlText]) -> [u8; BYTES] {
    let (mut joined, mut filled, mut index) = ([0; BYTES], 0, 0);
    while index < parts.len() {
        let part = parts[index].sqlite.as_bytes();
        let mut place = 0;
        while place < part.len() {
            match find_replaced(part, place) {
                Some(word) => {
                    filled = copy_bytes(word.sqlite, &mut joined, filled);
                    place += word.postgres.len();
                }
                None => {
                    joined[filled] = part[place];
                    filled += 1;
                    place += 1;
                }
            }
        }
        index += 1;
    }
    joined
}

pub(crate) const fn count_for_sqlite(parts: &[SqlText]) -> usize {
    let (mut bytes, mut index) = (0, 0);
    while index < parts.len() {
        let part = parts[index].sqlite.as_bytes();
        let mut place = 0;
        while place < part.len() {
            match find_replaced(part, place) {
                Some(word) => {
                    bytes += word.sqlite.len();
                    place += word.postgres.len();
                }
                None => {
                    bytes += 1;
                    place += 1;
                }
            }
        }
        index += 1;
    }
    bytes
}

/// The word that begins at this place of a text, if it is one to replace.
const fn find_replaced(text: &[u8], place: usize) -> Option<&'static ReplacedWord> {
    let mut index = 0;
    while index < REPLACED.len() {
        if begins_with(text, place, REPLACED[index].postgres) {
            return Some(&REPLACED[index]);
        }
        index += 1;
    }
    None
}

const fn begins_with(text: &[u8], place: usize, word: &[u8]) -> bool {
    let mut index = 0;
    while index < word.len() {
        if text.len() <= place + index || text[place + index] != word[index] {
            return false;
        }
        index += 1;
    }
    true
}

const fn copy_bytes(from: &[u8], to: &mut [u8], mut filled: usize) -> usize {
    let mut index = 0;
    while index < from.len() {
        to[filled] = from[index];
        filled += 1;
        index += 1;
    }
    filled
}

/// Joins literals and constants of type [`SqlText`] to a statement, when the program is compiled.
macro_rules! shared_sql {
    ($($part:tt),+ $(,)?) => {{
        use $crate::sql::text;
        use $crate::sql::text::SqlText;
        const PARTS: &[SqlText] = &[$($crate::sql::text::sql_part!($part)),+];
        const SQLITE: [u8; text::count_for_sqlite(PARTS)] = text::join_for_sqlite(PARTS);
        const POSTGRES: [u8; text::count_for_postgres(PARTS)] = text::join_for_postgres(PARTS);
        SqlText::from_bytes(&SQLITE, &POSTGRES)
    }};
}
pub(crate) use shared_sql;

macro_rules! sql_part {
    ($text:literal) => {
        SqlText::same($text)
    };
    ($part:ident) => {
        $part
    };
}
pub(crate) use sql_part;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_database_gets_its_words_and_its_form_of_parameters() {
        const COLUMNS: SqlText = SqlText::same("id, owner");
        const TEXT: SqlText = shared_sql!(
            "SELECT ",
            COLUMNS,
            ", greatest(a, b) FROM job WHERE id = $2::uuid AND is_open = TRUE AND key = ",
            EMPTY_BYTES,
            " LIMIT $1 FOR UPDATE SKIP LOCKED"
        );
        assert_eq!(
            TEXT.postgres,
            "SELECT id, owner, greatest(a, b) FROM job WHERE id = $2::uuid AND is_open = TRUE \
             AND key = '' LIMIT $1 FOR UPDATE SKIP LOCKED"
        );
        assert_eq!(
            TEXT.sqlite,
            "SELECT id, owner, max(a, b) FROM job WHERE id = ?2 AND is_open = 1 \
             AND key = x'' LIMIT ?1"
        );
    }
}
