class Vault
  private def code
    42
  end
end

puts Vault.new.code
