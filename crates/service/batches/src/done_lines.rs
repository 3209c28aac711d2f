//! The lines that have a result, as one bit each.

#[derive(Debug, Default)]
pub(crate) struct DoneLines {
    bits: Vec<u64>,
}

impl DoneLines {
    pub(crate) fn from_numbers(numbers: &[u32]) -> DoneLines {
        let mut done = DoneLines::default();
        numbers.iter().for_each(|number| done.add(*number));
        done
    }

    pub(crate) fn add(&mut self, number: u32) {
        let (word, bit) = split_number(number);
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= bit;
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        let (word, bit) = split_number(number);
        self.bits.get(word).is_some_and(|bits| bits & bit != 0)
    }
}

fn split_number(number: u32) -> (usize, u64) {
    (usize::try_from(number / 64).unwrap_or(usize::MAX), 1 << (number % 64))
}
