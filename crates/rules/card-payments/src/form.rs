//! The form of Stripe's requests: names with brackets, such as `metadata[tollgate_order]`.

use url::form_urlencoded::Serializer;

/// Fields in order.
#[derive(Default)]
pub(crate) struct StripeForm {
    text: String,
}

impl StripeForm {
    pub(crate) fn new() -> StripeForm {
        StripeForm::default()
    }

    /// `path` is the name and what stands in its brackets.
    pub(crate) fn set(mut self, path: &[&str], value: impl AsRef<str>) -> StripeForm {
        let mut name = String::new();
        for (depth, part) in path.iter().enumerate() {
            if depth == 0 {
                name.push_str(part);
            } else {
                name.push('[');
                name.push_str(part);
                name.push(']');
            }
        }
        let text = std::mem::take(&mut self.text);
        let mut serializer = Serializer::new(text);
        self.text = serializer.append_pair(&name, value.as_ref()).finish();
        self
    }

    pub(crate) fn set_if(self, is_set: bool, path: &[&str], value: &str) -> StripeForm {
        if is_set { self.set(path, value) } else { self }
    }

    pub(crate) fn set_some(self, path: &[&str], value: Option<&str>) -> StripeForm {
        match value {
            Some(value) => self.set(path, value),
            None => self,
        }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}
