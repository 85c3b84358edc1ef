//! Scenarios of charges: the phenomena that a prediction includes.

use odonata_declare::words;

words! {
    /// The paper's six scenarios (Section 5.2), in order of their penalties.
    #[derive(PartialOrd, Ord)]
    pub enum Charges {
        AlphaBeta = "alpha-beta": "start-up and bandwidth",
        AlphaBetaGamma = "alpha-beta-gamma": "and every message across the network's diameter: the best fit of Eos",
        BetaPenalty = "beta-penalty": "and bandwidth limited by hardware and by shared links",
        AlphaBetaPenalties = "alpha-beta-penalties": "and contention of a node's tasks at start-up",
        BetaGammaPenalties = "beta-gamma-penalties": "as `beta-penalty`, and contention of a node's tasks at every \
            hop",
        AlphaBetaGammaPenalties = "alpha-beta-gamma-penalties": "all of them",
    }
}

impl Charges {
    /// Whether messages pay for distance.
    #[must_use]
    pub fn distance(self) -> bool {
        self != Self::AlphaBeta
    }

    /// Whether beta is multiplied by B_max / B + m / l.
    #[must_use]
    pub fn limits_bandwidth(self) -> bool {
        self >= Self::BetaPenalty
    }

    /// Whether alpha is multiplied by the tasks active on a node.
    #[must_use]
    pub fn multicore_alpha(self) -> bool {
        matches!(self, Self::AlphaBetaPenalties | Self::AlphaBetaGammaPenalties)
    }

    /// Whether gamma is multiplied by the tasks active on a node.
    #[must_use]
    pub fn multicore_gamma(self) -> bool {
        matches!(self, Self::BetaGammaPenalties | Self::AlphaBetaGammaPenalties)
    }

    /// Number of penalties added to the baseline. The distance term counts as one.
    #[must_use]
    pub fn penalties(self) -> u32 {
        u32::from(self.distance())
            + u32::from(self.limits_bandwidth())
            + u32::from(self.multicore_alpha())
            + u32::from(self.multicore_gamma())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_declare::Word;

    #[test]
    fn each_adds_what_the_paper_lists() {
        let counts: Vec<u32> = Charges::ALL.iter().map(|charges| charges.penalties()).collect();
        assert_eq!(counts, [0, 1, 2, 3, 3, 4]);
        assert!(Charges::ALL.iter().all(|&s| Charges::from_word(s.word()) == Some(s)));
        assert_eq!(Charges::from_word("gamma"), None);
    }
}
