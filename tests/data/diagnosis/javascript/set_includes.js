const tags = new Set(["a"]);
if (tags.includes("a")) console.log("yes");
