//! A list of options with a default for callers that choose none.

/// Options in the operator's order, one of which is the default. Empty if the model does not take
/// this option.
#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceList<T> {
    options: Vec<T>,
    default: usize,
}

impl<T: PartialEq> ChoiceList<T> {
    pub fn empty() -> ChoiceList<T> {
        ChoiceList { options: Vec::new(), default: 0 }
    }

    /// The first option is the default.
    pub fn first_of(options: Vec<T>) -> ChoiceList<T> {
        ChoiceList { options, default: 0 }
    }

    /// `None` when the default is not one of the options.
    pub fn with_default(options: Vec<T>, default: &T) -> Option<ChoiceList<T>> {
        let default = options.iter().position(|it| it == default)?;
        Some(ChoiceList { options, default })
    }

    pub fn options(&self) -> &[T] {
        &self.options
    }

    pub fn default(&self) -> Option<&T> {
        self.options.get(self.default)
    }

    pub fn is_empty(&self) -> bool {
        self.options.is_empty()
    }
}
