# Apply this in the first minute: it needs no provider and no account anywhere.
terraform {
  cloud {
    # The organization is that of TF_CLOUD_ORGANIZATION.
    hostname = "statehouse.local"

    workspaces {
      name = "first-apply"
    }
  }
}

variable "greeting" {
  type    = string
  default = "Hello from Statehouse"
}

resource "terraform_data" "greeting" {
  input = var.greeting
}

output "greeting" {
  value = terraform_data.greeting.output
}

output "secret" {
  value     = "kept sealed"
  sensitive = true
}

output "ports" {
  value = [80, 443]
}
