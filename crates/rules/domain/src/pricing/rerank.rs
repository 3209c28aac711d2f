//! Price of rerank models: an amount per token and an amount per document.

use money::{Price, UnitRate, WorkCost};

/// A rate of zero is not part of the price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RerankPrice {
    /// Per token that the model reads.
    pub input: UnitRate,
    /// Per document.
    pub document: UnitRate,
}

impl RerankPrice {
    /// The maximum cost of a request.
    pub fn max_cost(self, tokens_max: u64, documents: u64) -> WorkCost {
        WorkCost::sum_lines(&[(tokens_max, self.input), (documents, self.document)])
    }

    /// True if documents have a price of their own.
    pub fn counts_documents(self) -> bool {
        self.document.usd != Price::FREE
    }

    /// True if tokens are billed. They are also listed if nothing costs anything, so that every
    /// request has a line.
    pub fn counts_tokens(self) -> bool {
        self.input.usd != Price::FREE || !self.counts_documents()
    }
}

#[cfg(test)]
mod tests {
    use money::PriceUnits;

    use super::*;

    fn rate(text: &str, per: PriceUnits) -> UnitRate {
        UnitRate::at_par(Price::parse(text, per).unwrap())
    }

    #[test]
    fn tokens_and_documents_are_summed_before_the_one_rounding() {
        // Half a nano-dollar for a token and for a document.
        let price = RerankPrice {
            input: rate("0.0005", PriceUnits::Million),
            document: rate("0.0000005", PriceUnits::Thousand),
        };
        assert_eq!(price.max_cost(1, 0).usd.nanos(), 0);
        assert_eq!(price.max_cost(1, 1).usd.nanos(), 1);
        assert_eq!(price.max_cost(3, 3).usd.nanos(), 3);
        assert!(price.counts_tokens() && price.counts_documents());
    }

    #[test]
    fn only_what_has_a_price_is_counted() {
        let none = RerankPrice { input: UnitRate::FREE, document: UnitRate::FREE };
        assert!(none.counts_tokens() && !none.counts_documents());
        let documents = RerankPrice { document: rate("2", PriceUnits::Thousand), ..none };
        assert!(!documents.counts_tokens() && documents.counts_documents());
    }
}
