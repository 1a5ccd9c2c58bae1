module bot

go 1.24.0

require botarena v0.0.0

// The folder bots/go of Bot Arena.
replace botarena => "{{kit}}"
