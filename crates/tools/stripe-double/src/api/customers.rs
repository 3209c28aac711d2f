//! Customers, and the portal in which they change their cards.

use serde_json::json;

use crate::double::{StripeDouble, set};
use crate::request::{DoubleAnswer, FormFields};

impl StripeDouble {
    pub(crate) fn add_customer(&mut self, email: Option<&str>) -> String {
        let id = self.mint_id("cus");
        self.customers.add(json!({
            "id": id, "object": "customer", "created": self.now_s, "email": email,
            "livemode": self.settings.is_live, "metadata": {},
        }));
        id
    }

    pub(crate) fn create_portal(&mut self, form: &FormFields) -> DoubleAnswer {
        let customer = form.get("customer").unwrap_or_default();
        if self.customers.find(customer).is_none() {
            return DoubleAnswer::missing("customer", customer);
        }
        let id = self.mint_id("bps");
        DoubleAnswer::ok(json!({
            "id": id, "object": "billing_portal.session", "created": self.now_s,
            "customer": customer, "livemode": self.settings.is_live,
            "return_url": form.get("return_url"),
            "url": format!("{}/portal/{id}", self.settings.page_url),
        }))
    }

    pub(crate) fn delete_customer(&mut self, id: &str) -> DoubleAnswer {
        let Some(customer) = self.customers.find_mut(id) else {
            return DoubleAnswer::missing("customer", id);
        };
        set(customer, "deleted", true);
        DoubleAnswer::ok(json!({"id": id, "object": "customer", "deleted": true}))
    }
}
