//! Which phenomena a prediction includes.

/// The paper's six scenarios (Section 5.2), from the fewest penalties to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scenario {
    /// Start-up and bandwidth only.
    AlphaBeta,
    /// Each message also travels the network's diameter.
    AlphaBetaGamma,
    /// And bandwidth is limited by the hardware and by shared links.
    BetaPenalty,
    /// And the tasks of a node contend for the start-up.
    AlphaBetaPenalties,
    /// As `BetaPenalty`, and the tasks of a node contend at each hop.
    BetaGammaPenalties,
    /// All of them.
    AlphaBetaGammaPenalties,
}

impl Scenario {
    /// All six in the paper's order.
    pub const ALL: [Self; 6] = [
        Self::AlphaBeta,
        Self::AlphaBetaGamma,
        Self::BetaPenalty,
        Self::AlphaBetaPenalties,
        Self::BetaGammaPenalties,
        Self::AlphaBetaGammaPenalties,
    ];

    /// The name in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AlphaBeta => "alpha-beta",
            Self::AlphaBetaGamma => "alpha-beta-gamma",
            Self::BetaPenalty => "beta-penalty",
            Self::AlphaBetaPenalties => "alpha-beta-penalties",
            Self::BetaGammaPenalties => "beta-gamma-penalties",
            Self::AlphaBetaGammaPenalties => "alpha-beta-gamma-penalties",
        }
    }

    /// The scenario with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }

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

    /// How many penalties it adds to the baseline; the distance term counts as one.
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

    #[test]
    fn each_adds_what_the_paper_lists() {
        let counts: Vec<u32> = Scenario::ALL.iter().map(|s| s.penalties()).collect();
        assert_eq!(counts, [0, 1, 2, 3, 3, 4]);
        assert!(Scenario::ALL.iter().all(|&s| Scenario::from_name(s.name()) == Some(s)));
        assert_eq!(Scenario::from_name("gamma"), None);
    }
}
